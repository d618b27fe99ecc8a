import type { Line } from './harness.ts'

/**
 * History of the pods of each node in a comparable form: hashes are `rev1`, `rev2` by revision number, pods are counted per node, equal
 * neighbours collapse, and nodes are anonymous. A state is one of Created Bound Unready Ready Failing(reason) Terminating Gone.
 *
 * @param from index of the first line; pods that exist already enter with their state
 * @returns how many nodes have each history
 */
export function nodeHistories(lines: readonly Line[], from = 0): Readonly<Record<string, number>> {
  const revisionOf = numberRevisions(lines)
  const nodes = new Map<string, { readonly steps: string[]; readonly pods: Map<string, { readonly nth: number; last: string }> }>()
  for (const { type, uid, o } of [...standing(lines.slice(0, from)), ...lines.slice(from).filter(({ kind }) => kind === 'Pod')]) {
    const name = o['node'] as string | undefined
    if (name === undefined) continue
    const node = nodes.get(name) ?? { steps: [] as string[], pods: new Map<string, { readonly nth: number; last: string }>() }
    nodes.set(name, node)
    const pod = node.pods.get(uid) ?? { nth: node.pods.size + 1, last: '' }
    node.pods.set(uid, pod)
    const state = stateOf(type, o)
    if (state !== pod.last) node.steps.push(`${pod.nth}:${revisionOf(o['hash'])}:${state}`)
    pod.last = state
  }
  const counts: Record<string, number> = {}
  for (const { steps } of nodes.values()) counts[steps.join(' > ')] = (counts[steps.join(' > ')] ?? 0) + 1
  return counts
}

/** Most nodes without a pod that is ready and not terminating, at any pod event from line `from` on. */
export function mostDown(lines: readonly Line[], from: number): number {
  const up = new Map<string, Set<string>>()
  let most = 0
  lines.forEach(({ kind, type, uid, node, o }, at) => {
    if (kind !== 'Pod' || node === undefined) return
    const there = up.get(node) ?? new Set<string>()
    up.set(node, there)
    if (type !== 'DELETED' && o['ready'] === true && o['deleting'] === false) there.add(uid)
    else there.delete(uid)
    if (at >= from) most = Math.max(most, [...up.values()].filter((set) => set.size === 0).length)
  })
  return most
}

function standing(lines: readonly Line[]): readonly Line[] {
  const last = new Map<string, Line>()
  for (const line of lines) if (line.kind === 'Pod') last.set(line.uid, line)
  return [...last.values()].filter(({ type }) => type !== 'DELETED')
}

function numberRevisions(lines: readonly Line[]): (hash: unknown) => string {
  const numbers = new Map<unknown, number>()
  for (const { kind, type, o } of lines)
    if (kind === 'ControllerRevision' && type !== 'DELETED') numbers.set(o['hash'], Number(o['revision']))
  const order = [...numbers].sort((a, b) => a[1] - b[1]).map(([hash]) => hash)
  return (hash) => `rev${order.indexOf(hash) + 1}`
}

function stateOf(type: Line['type'], o: Line['o']): string {
  if (type === 'DELETED') return 'Gone'
  if (o['deleting'] === true) return 'Terminating'
  if (o['phase'] === 'Failed') return 'Failing(Failed)'
  if (['ImagePullBackOff', 'ErrImagePull', 'CrashLoopBackOff'].includes(String(o['waiting']))) return `Failing(${String(o['waiting'])})`
  if (o['ready'] === true) return 'Ready'
  if (o['bound'] === false) return 'Created'
  return o['phase'] === 'Running' ? 'Unready' : 'Bound'
}
