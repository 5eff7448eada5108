def write_page(j,p): pass
