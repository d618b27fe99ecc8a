import type { NodeState } from './release-snapshot.ts'
import type { Style } from './styled-line.ts'

/** What a cell of the map shows; `mixed` stands for several nodes, some updated and the rest old. */
export type CellState = NodeState | 'mixed'

/** How a state is drawn. Signs differ too, so that the map reads without colours. */
export interface Glyphs {
  readonly cells: Readonly<Record<CellState, string>>
  readonly bar: { readonly full: string; readonly part: string; readonly empty: string; readonly mark: string }
}

/** For terminals with Unicode: all signs are one column wide. */
export const unicodeGlyphs: Glyphs = {
  cells: { updated: '■', mixed: '▤', updating: '◌', old: '□', down: '▽', failing: '✗', notReady: '?' },
  bar: { full: '█', part: '▒', empty: '░', mark: '╵' },
}

/** For everything else. */
export const asciiGlyphs: Glyphs = {
  cells: { updated: '#', mixed: '=', updating: 'o', old: '.', down: 'v', failing: 'X', notReady: '?' },
  bar: { full: '#', part: '+', empty: '.', mark: "'" },
}

/** The colour of a state. */
export const cellStyles: Readonly<Record<CellState, Style>> = {
  updated: 'green',
  mixed: 'green',
  updating: 'cyan',
  old: 'dim',
  down: 'yellow',
  failing: 'red',
  notReady: 'yellow',
}

/** The words of the legend. */
export const stateWords: Readonly<Record<NodeState, string>> = {
  updated: 'updated',
  updating: 'updating',
  old: 'old',
  down: 'old, down',
  failing: 'failing',
  notReady: 'node NotReady',
}
