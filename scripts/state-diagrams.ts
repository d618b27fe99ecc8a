/** Diagrams of docs/reference/release-phases.md, from the state machines that every status write of a controller follows. */
import { readFileSync } from 'node:fs'
import * as machines from '../packages/words/api-schema/src/states/state-machines.ts'

const page = 'docs/reference/release-phases.md'

const diagrams: Readonly<Record<string, readonly machines.Transition<string>[]>> = {
  'phase of a Rollout': machines.rolloutPhaseTransitions,
  'reason of Progressing': machines.progressingTransitions,
  'state of a step': machines.stepTransitions,
  'phase of a BatchRelease': machines.batchReleasePhaseTransitions,
  'state of a batch': machines.batchStateTransitions,
  'state of the permit record': machines.flightTransitions,
}

/** @returns docs/reference/release-phases.md with its diagrams; the text around them is unchanged */
export function writtenDiagrams(): { readonly path: string; readonly text: string } {
  let text = readFileSync(page, 'utf8')
  for (const [name, transitions] of Object.entries(diagrams)) {
    const marked = new RegExp(`(<!-- diagram: ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`)
    if (!marked.test(text)) throw new Error(`${page} has no diagram "${name}"`)
    text = text.replace(marked, (_all, begin: string, end: string) => `${begin}\n${mermaid(transitions)}\n\n${end}`)
  }
  return { path: page, text }
}

function mermaid(transitions: readonly machines.Transition<string>[]): string {
  const lines = transitions.map(({ from, to, when }) => `  ${from ?? '[*]'} --> ${to}${when === '' ? '' : `: ${when}`}`)
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n')
}
