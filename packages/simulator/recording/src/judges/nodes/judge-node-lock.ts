import type { RecordedWrite } from '../../record/recorded-write.ts'
import { followNodeLeases, type NodeLeases } from '../../world/node-locks.ts'
import type { Deletion } from '../../world/world.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'

/** Time after the last permit of a node within which its Lease is given back, if nothing holds our processes up. */
const RELEASED_MS = 120_000

/**
 * Judges what a policy with `downtime.nodeLock: Take` asks for. G4: a pod is deleted only while a release of its namespace holds the Lease of
 * its node. G11: we take or delete no Lease that another holder has. G7: in the end we hold no Lease of a node.
 */
export function createNodeLockJudge(parts: JudgeParts): Judge {
  return new NodeLockJudge(parts)
}

class NodeLockJudge implements Judge {
  readonly #parts: JudgeParts
  readonly #leases: NodeLeases

  constructor(parts: JudgeParts) {
    this.#parts = parts
    this.#leases = followNodeLeases(parts.query.clockSteps)
  }

  onDeletion({ daemonSet, decision, pod, atMs }: Deletion): void {
    // A process that knows more of the policy may have given the Lease back.
    const terms = [...daemonSet.terms.possible(decision, this.#parts.observations), daemonSet.terms.latest]
    if (!terms.every((one) => one?.downtime?.nodeLock === 'Take')) return
    if (this.#leases.hadIn(pod.node, daemonSet.namespace, decision.atMs, atMs)) return
    const holder = this.#leases.at(pod.node, atMs)?.holder ?? 'no program'
    this.#breach('G4', atMs, pod.node, `a pod is deleted, and ${holder} holds the Lease of the node, which the policy says to take`)
  }

  onWrite(write: RecordedWrite): void {
    this.#judgeLease(write)
    this.#leases.onWrite(write)
  }

  atEnd(lastMs: number): void {
    const { quiescentFromMs } = this.#parts.query
    if (quiescentFromMs === undefined || lastMs - quiescentFromMs < RELEASED_MS) return
    for (const [node, { namespace, holder, sinceMs }] of this.#leases.now())
      if (namespace !== undefined && lastMs - sinceMs >= RELEASED_MS && !this.#hasPermit(node))
        this.#breach('G7', lastMs, node, `${holder} still holds its Lease, although it has no permit any more`)
  }

  #judgeLease({ kind, type, actor = '', o, t, sent, namespace }: RecordedWrite): void {
    if (kind !== 'Lease' || !this.#parts.query.isOurs(actor)) return
    const { metadata, spec } = o as { readonly metadata?: { readonly name?: string }; readonly spec?: { readonly holderIdentity?: string } }
    const node = metadata?.name?.replace(/^node-/, '') ?? ''
    const before = this.#leases.at(node, t)
    if (before === undefined || namespace !== 'medik8s-leases') return
    const isDeleted = type === 'DELETED'
    // A deleted object is as it was last. Leases of our own releases may be swept.
    if (isDeleted ? before.namespace !== undefined : before.holder === spec?.holderIdentity) return
    // Renewed after it was sent: the write would have been refused.
    if (!this.#leases.isHeld(before, sent ?? t, actor)) return
    this.#breach('G11', t, node, `we ${isDeleted ? 'delete' : 'take'} its Lease, which ${before.holder} holds`)
  }

  #hasPermit(node: string): boolean {
    return [...this.#parts.world.stories()].some(({ orders }) => (orders.flight?.permits ?? []).some((permit) => permit.node === node))
  }

  #breach(guarantee: 'G4' | 'G7' | 'G11', atMs: number, node: string, text: string): void {
    this.#parts.breach({ guarantee, atMs, node, text })
  }
}
