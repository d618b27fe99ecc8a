import type { Pod } from '@tranche/kube-types'
import { changePods } from './change-pods.ts'
import type { Ledger } from './nodes/node-ledger.ts'
import type { Target } from './nodes/pod-template.ts'
import { planRollingUpdate, planSurge } from './rolling-update.ts'
import { strategyOf } from './nodes/strategy.ts'
import type { SyncPorts } from './sync-ports.ts'

/**
 * One step of the update strategy, when placement has nothing to do.
 *
 * @throws error of a write; with surge, while an old pod is bound to a deleted node
 */
export async function update(ports: SyncPorts, target: Target, ledger: Ledger): Promise<void> {
  const strategy = strategyOf(target.daemonSet, ledger.counts.desired)
  switch (strategy.kind) {
    case 'onDelete':
      return
    case 'rolling': {
      const nodeNames = planRollingUpdate(ledger, strategy.maxUnavailable, ports.random)
      return changePods(
        ports,
        target,
        [],
        nodeNames.flatMap((name) => oldPodOn(ledger, name)),
      )
    }
    case 'surge': {
      requireNoneLost(ledger, strategy.maxSurge)
      const { create, remove } = planSurge(ledger, strategy.maxSurge, ports.random)
      return changePods(
        ports,
        target,
        create,
        remove.flatMap((name) => oldPodOn(ledger, name)),
      )
    }
    default:
      return strategy satisfies never
  }
}

function oldPodOn(ledger: Ledger, nodeName: string): readonly Pod[] {
  const { rolling } = ledger.verdict(nodeName)!
  return 'pod' in rolling ? [rolling.pod] : []
}

/** Like the real controller, fails here until the pod garbage collector has removed the pod. */
function requireNoneLost({ rolling }: Ledger, maxSurge: number): void {
  const [nodeName] = rolling.lost.values()
  if (nodeName !== undefined && maxSurge > 0)
    throw new Error(`couldn't get node for nodeName ${JSON.stringify(nodeName)}: it does not exist`)
}
