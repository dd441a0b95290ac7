"""The documentation as a website, built by MkDocs."""
