"""The library as `import sinew as sw` offers it."""
