import type { Outcome, ReportedNodeState, RolloutSummary } from '@tranche/api-schema'

/** Tone of a state: decides its colour. Each state has a glyph and a word too, so nothing depends on the colour. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'quiet'

/** How a state is shown. */
export interface StateLook {
  readonly word: string
  /** One character, distinct without colour. */
  readonly glyph: string
  readonly tone: Tone
}

const outcomeLooks: Readonly<Record<Outcome, StateLook>> = {
  Done: { word: 'Done', glyph: '✓', tone: 'good' },
  Running: { word: 'Running', glyph: '▶', tone: 'busy' },
  Waiting: { word: 'Waiting', glyph: '‖', tone: 'wait' },
  Failed: { word: 'Failed', glyph: '✕', tone: 'bad' },
  Blocked: { word: 'Blocked', glyph: '!', tone: 'bad' },
  RolledBack: { word: 'Rolled back', glyph: '↩', tone: 'wait' },
}

/** @returns how the outcome of a Rollout is shown; `Disabled`, `Terminating`, `Paused` and `Rolling back` say more than the outcome alone */
export function lookOf({
  outcome,
  disabled,
  phase,
  paused,
  rollbackFrom,
}: Pick<RolloutSummary, 'outcome' | 'phase' | 'disabled' | 'paused' | 'rollbackFrom'>): StateLook {
  if (disabled && phase === 'Disabling' && outcome === 'Running') return { word: 'Disabling', glyph: '▶', tone: 'busy' }
  if (phase === 'Terminating' && outcome === 'Running') return { word: 'Terminating', glyph: '▶', tone: 'busy' }
  if (disabled && phase !== 'Disabling' && phase !== 'Terminating') return { word: 'Disabled', glyph: '○', tone: 'quiet' }
  if (paused && outcome === 'Waiting') return { ...outcomeLooks.Waiting, word: 'Paused' }
  if (rollbackFrom !== undefined && outcome === 'Running') return { word: 'Rolling back', glyph: '↩', tone: 'busy' }
  return outcomeLooks[outcome]
}

/** How each state of a node is shown, worst first. */
export const nodeLooks: Readonly<Record<ReportedNodeState, StateLook>> = {
  failing: { word: 'failing', glyph: '✕', tone: 'bad' },
  down: { word: 'old and down', glyph: '!', tone: 'wait' },
  notReady: { word: 'NotReady', glyph: '?', tone: 'wait' },
  updating: { word: 'updating', glyph: '▶', tone: 'busy' },
  old: { word: 'old', glyph: '·', tone: 'quiet' },
  updated: { word: 'updated', glyph: '✓', tone: 'good' },
  excluded: { word: 'excluded', glyph: '–', tone: 'quiet' },
}

/** States of nodes, worst first. */
export const nodeStateOrder = Object.keys(nodeLooks) as readonly ReportedNodeState[]
