import { type BlockedNode, type Failure, GROUPED_NODES_MAX, type LeftCause, leftCauses, type LeftNodes } from '@tranche/api-schema'
import { hasOldPod } from '@tranche/fence'
import { type FleetView, nodeInView, type NodeView } from '@tranche/fleet'
import { parseTime } from '@tranche/kube-types'
import type { BatchProgress } from './batch-progress.ts'
import { firstNodes } from './unwell-text.ts'

/** Facts about nodes that a release leaves. */
export interface LeftQuestion {
  readonly fleet: FleetView
  readonly progress: Pick<BatchProgress, 'excluded' | 'exemption'>
  /** Revision that is released. */
  readonly revision: string
  /** Nodes that keep their old pod because of a check. */
  readonly blocked: readonly BlockedNode[]
  /** Failure of the revision; undefined without one. */
  readonly failure: Pick<Failure, 'nodes' | 'failedNodes' | 'accepted' | 'stops'> | undefined
}

/** Groups left nodes by cause, in the order of {@link leftCauses}. Status, reports and forecasts have their causes and texts from here. */
export function leftNodes(names: readonly string[], question: LeftQuestion): readonly LeftNodes[] {
  const causeIn = createCauses(question)
  const byCause = Map.groupBy([...new Set(names)], (name) => causeIn(name))
  return leftCauses.flatMap((cause) => {
    const alike = byCause.get(cause)
    if (alike === undefined) return []
    const named = firstNodes(alike, (name) => detailed(name, detailOf(cause, name, question)))
    const { title, next } = wordsFor(cause, alike, question.failure)
    const message = `${alike.length} ${title} (${named})`
    return [{ cause, count: alike.length, nodes: alike.slice(0, GROUPED_NODES_MAX), message, next }]
  })
}

/** @returns the groups as one text, without a stop */
export function leftText(groups: readonly LeftNodes[]): string {
  return groups.map(({ message, next }) => `${message}, ${next}`).join('; ')
}

function createCauses({ fleet, progress, revision, blocked, failure }: LeftQuestion): (name: string) => LeftCause {
  const excluded = new Set(progress.excluded)
  const held = new Set(blocked.map(({ node }) => node))
  const dead = new Set(progress.exemption.dead)
  const failed = new Set([...(failure?.nodes ?? []), ...(failure?.accepted ?? [])])
  return (name) => {
    const node = nodeInView(fleet, name)
    if (excluded.has(name)) return 'Excluded'
    if (dead.has(name)) return 'Dead'
    if (node === undefined) return 'Lost'
    if (hasOldPod(node, revision)) return causeOfOld(node, held.has(name))
    if (failed.has(name)) return 'Failed'
    return node.ready && node.desired ? 'Starting' : 'Lost'
  }
}

/** A check of a node says more than its state only while the node can be updated. */
function causeOfOld({ ready, maintenance }: NodeView, isBlocked: boolean): LeftCause {
  if (maintenance !== undefined) return 'Maintenance'
  if (!ready) return 'NotReady'
  return isBlocked ? 'Blocked' : 'Due'
}

interface Words {
  readonly title: string
  readonly next: string
}

const words: Readonly<Record<LeftCause, Words>> = {
  Dead: { title: 'dead', next: 'updated on return' },
  Maintenance: { title: 'in maintenance', next: 'updated once that ends' },
  NotReady: { title: 'NotReady', next: 'updated once Ready' },
  Blocked: { title: 'kept on the old pod by a check', next: 'updated once the check allows it' },
  Due: { title: 'back with the old pod', next: 'updated next' },
  Failed: { title: 'failed, which is tolerated', next: 'done once an available pod runs there, or another template is applied' },
  Lost: { title: 'lost during the update or after it', next: 'done on return, or once the Node object is deleted' },
  Starting: { title: 'updated and not available', next: 'done once the new pod is available' },
  Excluded: { title: 'excluded by nodes.exclude of the policy', next: 'updated once the policy or their labels no longer exclude them' },
}

/** Where a failure stops the release, nothing is updated before a person accepts it. */
function wordsFor(cause: LeftCause, names: readonly string[], failure: LeftQuestion['failure']): Words {
  const stopped = failure?.stops === true ? whileStopped[cause] : undefined
  const found = stopped ?? words[cause]
  if (cause !== 'Failed') return found
  const failed = new Set(failure?.nodes)
  const accepted = new Set(failure?.accepted?.filter((name) => !failed.has(name)))
  if (names.every((name) => accepted.has(name))) return { ...found, title: 'failed, which a retry accepted' }
  const isMixed = stopped === undefined && names.some((name) => accepted.has(name))
  return isMixed ? { ...found, title: 'failed, which is tolerated or was accepted by a retry' } : found
}

const whileStopped: Partial<typeof words> = {
  Dead: { title: 'dead', next: 'updated on return after a retry' },
  Maintenance: { title: 'in maintenance', next: 'updated once that ends, after a retry' },
  NotReady: { title: 'NotReady', next: 'updated once Ready, after a retry' },
  Blocked: { title: 'kept on the old pod by a check', next: 'updated once the check allows it, after a retry' },
  Due: { title: 'back with the old pod', next: 'updated after a retry' },
  Failed: { title: 'failed', next: 'done once an available pod runs there, or another template is applied' },
}

function detailed(name: string, detail: string): string {
  return detail === '' ? name : `${name}${detail.startsWith('since ') ? ' ' : ': '}${detail}`
}

function detailOf(cause: LeftCause, name: string, { fleet, blocked, failure }: LeftQuestion): string {
  const node = nodeInView(fleet, name)
  switch (cause) {
    case 'Blocked': {
      const { reason, message } = blocked.find((one) => one.node === name) ?? {}
      return [reason, message].filter((part) => part !== undefined).join(': ')
    }
    case 'Failed': {
      const { reason } = failure?.failedNodes?.find((one) => one.node === name) ?? {}
      return reason ?? ''
    }
    case 'Dead':
    case 'Maintenance':
    case 'NotReady':
    case 'Lost':
      return node === undefined ? '' : outageText(node)
    case 'Excluded':
      return node === undefined ? '' : troubleText(node)
    default:
      return ''
  }
}

/** State of an old pod that is not ready: nothing replaces it on an excluded node, also if its version was rolled back. */
function troubleText({ ready, pods }: NodeView): string {
  const standing = pods.filter(({ terminating }) => !terminating)
  const [pod] = standing
  if (!ready || pod === undefined || standing.some((one) => one.ready)) return ''
  return `${pod.trouble?.reason ?? 'not ready'}${pod.hash === undefined ? '' : ` on revision ${pod.hash}`}`
}

/** Condition and start of an outage, as far as known: `since 2026-01-01T00:00:00Z`, `Drained since 2026-01-01T00:00:00Z`. */
function outageText(node: NodeView): string {
  const since = outageStart(node)
  return [node.maintenance, since && `since ${since}`].filter((part) => part !== undefined).join(' ')
}

/** Time (RFC 3339) since which a node is in maintenance, else NotReady; undefined where no condition says. */
export function outageStart({ maintenance, maintenanceSince, notReadySince, silentSince }: NodeView): string | undefined {
  const since = maintenance === undefined ? (notReadySince ?? silentSince) : maintenanceSince
  return parseTime(since) === null ? undefined : since
}
