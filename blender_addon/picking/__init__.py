"""What lies under the cursor."""
