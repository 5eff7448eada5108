"""stub"""
HELP = DESCRIPTION = "x"; EXAMPLES = ()
def add_arguments(p): pass
def run(o): pass
