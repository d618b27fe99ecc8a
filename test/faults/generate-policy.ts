import type { ReleasePolicySpec } from '@tranche/api-schema'
import type { Random } from '@tranche/sim-api'
import { pick } from './draw.ts'
import { ZONE } from './schedule.ts'

/** @returns a policy that keeps every rule; its deadlines are longer than any pod of any world takes */
export function generatePolicy(random: Random): ReleasePolicySpec {
  const nodes = random.next() < 0.5 ? { nodes: generateNodeRules(random) } : {}
  const soak = random.next() < 0.4 ? { soak: generateSoak(random) } : {}
  return {
    ...nodes,
    ...some('maxUnavailable', pick(random, [undefined, undefined, 1, 2, 3, '30%', '100%'])),
    failure: generateFailure(random),
    ...soak,
  }
}

function generateFailure(random: Random): NonNullable<ReleasePolicySpec['failure']> {
  const action = pick(random, ['Pause', 'Pause', 'Rollback', 'Rollback', 'Continue'] as const)
  return {
    action,
    ...some('maxFailedNodes', pick(random, [undefined, undefined, 1, 2, '20%'])),
    ...some('maxFailedNodesPerBatch', pick(random, [undefined, undefined, undefined, 1, '50%'])),
    ...some('progressDeadlineSeconds', pick(random, [undefined, 90, 180])),
    ...some('schedulingDeadlineSeconds', pick(random, [undefined, 20])),
    ...some('maxRestarts', pick(random, [undefined, 0, 5])),
    ...some('ignoreReasons', pick(random, [undefined, undefined, ['ErrImagePull', 'CreateContainerConfigError']])),
    ...some('onReapply', pick(random, [undefined, 'Hold', 'Revert'] as const)),
    ...some('autoResume', action === 'Pause' && random.next() < 0.25 ? '1m' : undefined),
  }
}

function generateNodeRules(random: Random): NonNullable<ReleasePolicySpec['nodes']> {
  const zone = (): { readonly matchLabels: Readonly<Record<string, string>> } => ({
    matchLabels: { [ZONE]: pick(random, ['zone-a', 'zone-b', 'zone-c']) },
  })
  const order = [{ selector: zone() }, { by: pick(random, ['Oldest', 'Newest', 'Name'] as const) }].slice(random.integer(2))
  return {
    ...some('order', random.next() < 0.6 ? order : undefined),
    ...some('exclude', random.next() < 0.2 ? [zone()] : undefined),
    ...some('spread', random.next() < 0.4 ? [{ topologyKey: ZONE, maxUnavailable: 1 + random.integer(2) }] : undefined),
    notReady: {
      action: pick(random, ['Skip', 'Wait', 'Fail']),
      ...some('exempt', pick(random, [undefined, 0, 1, 2, '20%'])),
      ...some('after', pick(random, [undefined, undefined, '0s', '45s'])),
    },
  }
}

function generateSoak(random: Random): NonNullable<ReleasePolicySpec['soak']> {
  return { ...some('step', pick(random, [undefined, '3s', '45s'])), ...some('final', pick(random, [undefined, '0s', '2m'])) }
}

/** An object with the member if there is a value; otherwise an empty one. */
function some<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: V })
}
