"""The methods of this repository, one file a family; `registry` reads them all."""
