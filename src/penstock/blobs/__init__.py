"""Pages and images by the hash of their content: in a local folder, or in S3."""
