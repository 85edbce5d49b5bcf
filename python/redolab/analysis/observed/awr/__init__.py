"""Where a database's commit time went, by the reports that it wrote itself."""
