import { configFields } from '../config-fields.ts'
import { pinKey, type Pins, pinsText } from './pins.ts'

/** Largest number of objects that are read for one template. The limit of places and copies allows no more than about 70 different ones. */
export const MOST_OBJECTS = 128

/** Largest lists of a pod in which names are replaced. The policy that does it has no loop over lists of any length. */
export const PIN_LIMITS = { volumes: 32, sources: 16, containers: 8, entries: 64 } as const

/** @returns the first field beyond {@link PIN_LIMITS} that names a pinned object, as `spec.volumes[40].configMap.name`; null without one */
export function fieldBeyondLimits(spec: unknown, pins: Pins): string | null {
  const beyond = configFields(spec).find((field) => {
    if (field.isForDriver || !pins.has(pinKey(field))) return false
    const [first = 0, second = 0] = field.at.filter((part) => typeof part === 'number')
    if (field.at[0] === 'ephemeralContainers') return true
    if (field.at[0] === 'volumes') return first >= PIN_LIMITS.volumes || second >= PIN_LIMITS.sources
    return first >= PIN_LIMITS.containers || second >= PIN_LIMITS.entries
  })
  return beyond === undefined
    ? null
    : beyond.at.reduce<string>((path, part) => (typeof part === 'number' ? `${path}[${part}]` : `${path}.${part}`), 'spec')
}

/**
 * Limit of the product of places and the length of the annotation. The API server stops the policy at a cost limit, and then rejects the pod:
 * Kubernetes 1.36 accepts 714,000 in the worst case.
 */
const MOST_WORK = 300_000

/** @returns the number of places that name config, where the policy for pods could not replace the names in all of them; null where it can */
export function placesBeyondWork(spec: unknown, pins: Pins): number | null {
  const places = configFields(spec).filter(({ isForDriver }) => !isForDriver).length
  return places * pinsText(pins).length > MOST_WORK ? places : null
}
