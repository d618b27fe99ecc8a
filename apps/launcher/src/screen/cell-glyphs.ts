import type { Style } from '@tranche/cli'
import type { NodeState } from './release-snapshot.ts'

/** State of a map cell; `mixed` means several nodes, some updated and the others old. */
export type CellState = NodeState | 'mixed'

/** Signs of the states, each one column wide; they differ, so that the map is readable without colours. */
export type CellGlyphs = Readonly<Record<CellState, string>>

/** Signs for Unicode terminals. */
export const unicodeCells: CellGlyphs = { updated: '■', mixed: '▤', updating: '◌', old: '□', down: '▽', failing: '✗', notReady: '?' }

/** Signs for other terminals. */
export const asciiCells: CellGlyphs = { updated: '#', mixed: '=', updating: 'o', old: '.', down: 'v', failing: 'X', notReady: '?' }

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
