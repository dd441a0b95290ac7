"""Release: zips of the extension, an extension repository, the library's packages, checksums, a bill of materials and
notes.
"""
