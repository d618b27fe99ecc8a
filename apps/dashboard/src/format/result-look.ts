import type { StateLook } from './outcome-text.ts'

const results: ReadonlyMap<string, StateLook> = new Map(
  Object.entries({
    Completed: { word: 'Completed', glyph: '✓', tone: 'good' },
    RolledBack: { word: 'Rolled back', glyph: '↩', tone: 'wait' },
    Failed: { word: 'Failed', glyph: '✕', tone: 'bad' },
    Superseded: { word: 'Superseded', glyph: '–', tone: 'quiet' },
    Stopped: { word: 'Stopped', glyph: '■', tone: 'wait' },
    Done: { word: 'Done', glyph: '✓', tone: 'good' },
    Running: { word: 'Running', glyph: '▶', tone: 'busy' },
    Waiting: { word: 'Waiting', glyph: '‖', tone: 'wait' },
    Blocked: { word: 'Blocked', glyph: '!', tone: 'bad' },
    Accepted: { word: 'Accepted', glyph: '✓', tone: 'good' },
    Written: { word: 'Written', glyph: '✓', tone: 'good' },
    Refused: { word: 'Rejected', glyph: '✕', tone: 'bad' },
  }),
)

/** @returns how the result of a release or an action is shown; one of a newer server is shown by its name */
export function resultLook(result: string): StateLook {
  return results.get(result) ?? { word: result, glyph: '·', tone: 'quiet' }
}
