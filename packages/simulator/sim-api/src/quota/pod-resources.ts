import { type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { parseQuantity } from '@tranche/kube-types'

/** Amounts by resource name, in billionths. */
export type NanoAmounts = ReadonlyMap<string, bigint>

/**
 * Total requests or limits of a pod. Containers run together; init containers run before them in sequence; restartable init containers run
 * beside all that follow.
 *
 * @param spec a PodSpec
 * @see k8s.io/component-helpers/resource PodRequests, PodLimits
 */
export function podAmounts(spec: JsonObject, kind: 'requests' | 'limits'): NanoAmounts {
  let running: NanoAmounts = new Map()
  let sidecars: NanoAmounts = new Map()
  let starting: NanoAmounts = new Map()
  for (const container of listOrEmpty(spec['containers'])) running = sum(running, ownAmounts(container, kind))
  for (const container of listOrEmpty(spec['initContainers'])) {
    const own = ownAmounts(container, kind)
    const isSidecar = objectOrEmpty(container)['restartPolicy'] === 'Always'
    if (isSidecar) {
      running = sum(running, own)
      sidecars = sum(sidecars, own)
    }
    starting = merged(starting, isSidecar ? sidecars : sum(sidecars, own), larger)
  }
  const needed = merged(running, starting, larger)
  const forPod = new Map([...needed, ...ownAmounts(spec, kind)])
  const overhead = readAmounts(spec['overhead'])
  // A pod's overhead adds to limits only when the pod has limits.
  return sum(forPod, kind === 'requests' ? overhead : new Map([...overhead].filter(([name]) => forPod.has(name))))
}

/** @returns amounts of a map of quantities; invalid quantities are dropped */
export function readAmounts(quantities: unknown): NanoAmounts {
  return new Map(
    Object.entries(objectOrEmpty(quantities)).flatMap(([name, text]) => {
      const nano = parseQuantity(text)
      return nano === undefined ? [] : [[name, nano] as const]
    }),
  )
}

function ownAmounts(holder: unknown, kind: 'requests' | 'limits'): NanoAmounts {
  return readAmounts(objectOrEmpty(objectOrEmpty(holder)['resources'])[kind])
}

function sum(a: NanoAmounts, b: NanoAmounts): NanoAmounts {
  return merged(a, b, (one, other) => one + other)
}

function merged(a: NanoAmounts, b: NanoAmounts, join: (one: bigint, other: bigint) => bigint): NanoAmounts {
  if (b.size === 0) return a
  const result = new Map(a)
  for (const [name, amount] of b) result.set(name, join(result.get(name) ?? 0n, amount))
  return result
}

/** Math.max does not accept BigInt. */
function larger(one: bigint, other: bigint): bigint {
  if (one > other) return one
  return other
}
