"""All surfaces of the fuzzer."""

from trials import fuzz_command, fuzz_documents, fuzz_rows, fuzz_saved, fuzz_settings, fuzz_tables

SURFACES = (*fuzz_rows.SURFACES, *fuzz_tables.SURFACES, *fuzz_command.SURFACES, *fuzz_settings.SURFACES,
            *fuzz_saved.SURFACES, *fuzz_documents.SURFACES)
