"""The product crawler: pages are downloaded, kept, parsed and crawled again into a catalogue."""
