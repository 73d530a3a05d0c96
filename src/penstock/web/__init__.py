"""What routes need: envelope, keys and scopes, request ids, errors, pagination."""
