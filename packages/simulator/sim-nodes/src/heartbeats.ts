import type { Clock, Timer } from '@tranche/clock'
import type { Condition, Node } from '@tranche/kube-types'
import { isStatus, resources, type SimClient, timestamp } from '@tranche/sim-api'
import { kubeletConditions } from './build-node.ts'

/** Kubelet that renews its Lease. */
export interface Beating {
  readonly client: SimClient
  readonly node: Node
}

interface HeartbeatOptions {
  readonly clock: Clock
  /** Currently running kubelets, in a stable order. */
  readonly beating: () => readonly Beating[]
  readonly onError: (error: unknown, nodeName: string) => void
}

const TICK_MS = 1000
const RENEW_MS = 10_000
const LEASE_SECONDS = 40
/** More nodes renew less often, so that their total cost is bounded. */
const MOST_PER_TICK = 50
const STATUS_MS = 300_000
const NAMESPACE = 'kube-node-lease'

/**
 * Renews the Leases of nodes in turn, every ten seconds each for up to 500 nodes, and posts their conditions every five minutes. A Lease
 * lasts four renewals.
 *
 * @returns function that stops the renewals
 */
export function startHeartbeats({ clock, beating, onError }: HeartbeatOptions): () => void {
  const postedMs = new Map<string, number>()
  let next = 0
  let timer: Timer

  function tick(): void {
    const all = beating()
    const perTick = Math.min(MOST_PER_TICK, Math.ceil((all.length * TICK_MS) / RENEW_MS))
    const periodMs = Math.max(RENEW_MS, (all.length / MOST_PER_TICK) * TICK_MS)
    for (let turn = 0; turn < Math.min(perTick, all.length); turn++) {
      const one = all[next++ % all.length]!
      void beat(one, (4 * periodMs) / 1000).catch((error: unknown) => onError(error, one.node.metadata.name))
    }
    timer = clock.setTimer(TICK_MS, tick)
  }

  async function beat({ client, node }: Beating, durationSeconds: number): Promise<void> {
    const { name, uid } = node.metadata
    const renewTime = new Date(clock.nowMs()).toISOString().replace('Z', '000Z')
    const spec = { holderIdentity: name, leaseDurationSeconds: Math.max(LEASE_SECONDS, Math.ceil(durationSeconds)), renewTime }
    try {
      await client.patch(resources.leases, name, NAMESPACE, { spec })
    } catch (error) {
      if (!isStatus(error, 404)) throw error
      const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }]
      const metadata = { name, namespace: NAMESPACE, ownerReferences }
      await client.create(resources.leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
    }
    const nowMs = clock.monotonicMs()
    if (nowMs - (postedMs.get(uid) ?? postedMs.set(uid, nowMs).get(uid)!) < STATUS_MS) return
    postedMs.set(uid, nowMs)
    await client.strategicPatch(
      resources.nodes,
      name,
      undefined,
      { status: { conditions: withHeartbeat(node, timestamp(clock.nowMs())) } },
      'status',
    )
  }

  timer = clock.setTimer(TICK_MS, tick)
  return () => timer.cancel()
}

function withHeartbeat({ status }: Node, lastHeartbeatTime: string): readonly Condition[] {
  const own = (status?.conditions ?? []).filter(({ type }) => kubeletConditions.has(type))
  return own.map((condition) => ({ ...condition, lastHeartbeatTime }))
}
