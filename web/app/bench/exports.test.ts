import { testExport } from '../tests/export_story';

testExport(100_000);
