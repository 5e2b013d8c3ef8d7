"""Exchange of memory with other libraries."""
