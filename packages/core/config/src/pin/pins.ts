import type { ConfigKind } from '../config-fields.ts'
import type { ConfigObject } from '../judge-config.ts'

/** Names of the copies that pods read in place of the objects that their template names, by object: `ConfigMap/agent`. */
export type Pins = ReadonlyMap<string, string>

/** @returns the key of an object among {@link Pins} */
export function pinKey({ kind, name }: ConfigObject): string {
  return `${kind}/${name}`
}

/** @returns the kind of an object, from its {@link pinKey} */
export function kindOfPin(key: string): ConfigKind {
  return key.startsWith('Secret/') ? 'Secret' : 'ConfigMap'
}

/**
 * @returns the pins as the annotation holds them, in the order of their keys: `ConfigMap/agent=agent-9f86d081884c7d65,Secret/…`. A policy of
 *   the API server reads it too, so it is text that CEL can split. Names of objects contain none of its separators.
 */
export function pinsText(pins: Pins): string {
  return [...pins]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, copy]) => `${key}=${copy}`)
    .join(',')
}

/** Reads the text of the annotation; ignores entries of another form, and the second one for an object. */
export function parsePins(text: string | undefined): Pins {
  const pins = new Map<string, string>()
  for (const entry of (text ?? '').split(',')) {
    const [key = '', copy = '', ...more] = entry.split('=')
    if (/^(?:ConfigMap|Secret)\/[a-z0-9.-]+$/.test(key) && /^[a-z0-9.-]+$/.test(copy) && more.length === 0 && !pins.has(key))
      pins.set(key, copy)
  }
  return pins
}
