"""Archives: the images of a result, its report and all that it was made of, in one file."""
