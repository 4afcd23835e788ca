import { memoryJournal } from '../../src/journal/memory.ts';
import { describeJournal } from './describe-journal.ts';

describeJournal('memory', memoryJournal);
