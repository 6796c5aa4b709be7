"""What the bench itself costs. Nothing here asserts: figures are printed, targets beside them."""
