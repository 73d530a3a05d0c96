"""How the product of any page is read: structured data, what is displayed, what scripts carry."""
