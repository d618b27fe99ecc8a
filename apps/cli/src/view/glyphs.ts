import type { NodeState } from './release-snapshot.ts'
import type { Style } from './styled-line.ts'

/** State of a map cell; `mixed` means several nodes, some updated and the others old. */
export type CellState = NodeState | 'mixed'

/** Signs of the states; they differ, so that the map is readable without colours. */
export interface Glyphs {
  readonly cells: Readonly<Record<CellState, string>>
  readonly bar: { readonly full: string; readonly part: string; readonly empty: string; readonly mark: string }
}

/** Signs for Unicode terminals, each one column wide. */
export const unicodeGlyphs: Glyphs = {
  cells: { updated: '■', mixed: '▤', updating: '◌', old: '□', down: '▽', failing: '✗', notReady: '?' },
  bar: { full: '█', part: '▒', empty: '░', mark: '╵' },
}

/** Signs for other terminals. */
export const asciiGlyphs: Glyphs = {
  cells: { updated: '#', mixed: '=', updating: 'o', old: '.', down: 'v', failing: 'X', notReady: '?' },
  bar: { full: '#', part: '+', empty: '.', mark: "'" },
}

/** Colour of each state. */
export const cellStyles: Readonly<Record<CellState, Style>> = {
  updated: 'green',
  mixed: 'green',
  updating: 'cyan',
  old: 'dim',
  down: 'yellow',
  failing: 'red',
  notReady: 'yellow',
}

/** Labels of the legend. */
export const stateWords: Readonly<Record<NodeState, string>> = {
  updated: 'updated',
  updating: 'updating',
  old: 'old',
  down: 'old, down',
  failing: 'failing',
  notReady: 'node NotReady',
}
