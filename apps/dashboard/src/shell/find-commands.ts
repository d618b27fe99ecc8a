import type { RolloutSummary } from '@tranche/api-schema'
import { lookOf } from '../format/outcome-text.ts'
import type { Place } from '../ports/place.ts'

/** A target of the command palette. */
export interface Command {
  readonly title: string
  readonly detail: string
  readonly place: Place
}

const pages: readonly Command[] = [
  { title: 'All rollouts', detail: 'page', place: { view: 'fleet' } },
  { title: 'Record: who did what', detail: 'page', place: { view: 'record' } },
  { title: 'Doctor: what the cluster lacks', detail: 'page', place: { view: 'doctor' } },
]
/** Results that fit on a screen. */
const MOST_RESULTS = 12

/**
 * Finds pages and Rollouts. Every word must occur; a name that begins with the text comes first.
 *
 * @returns at most 12 commands
 */
export function findCommands(text: string, rollouts: Iterable<RolloutSummary>): readonly Command[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const matches = (haystack: string): boolean => words.every((word) => haystack.toLowerCase().includes(word))
  const found = [...rollouts].filter(({ namespace, name, images }) => matches([namespace, name, ...images].join('\n')))
  const [first = ''] = words
  const rank = ({ name }: RolloutSummary): number => (name.toLowerCase().startsWith(first) ? 0 : 1)
  const sorted = found.sort((a, b) => rank(a) - rank(b) || (`${a.name} ${a.namespace}` < `${b.name} ${b.namespace}` ? -1 : 1))
  const commands = sorted.slice(0, MOST_RESULTS).map(
    (rollout): Command => ({
      title: rollout.name,
      detail: `${rollout.namespace} · ${lookOf(rollout).word}`,
      place: { view: 'rollout', key: { namespace: rollout.namespace, name: rollout.name } },
    }),
  )
  return [...commands, ...pages.filter(({ title }) => matches(title))].slice(0, MOST_RESULTS)
}
