import { configFields } from '../config-fields.ts'
import { type Pins, pinKey } from './pins.ts'

/** Operation of a JSON Patch on a pod that replaces the name of an object by that of its copy. */
export interface PinOperation {
  readonly op: 'replace'
  readonly path: string
  readonly value: string
}

/**
 * Replaces names of config in a pod by those of their copies. The Secret of a CSI driver stays: the driver may renew it. A patched pod
 * needs no patch, unless a copy of one object is an object with a copy of its own.
 *
 * @param spec the PodSpec of a pod that is being created
 */
export function pinPatch(spec: unknown, pins: Pins): readonly PinOperation[] {
  return configFields(spec).flatMap((field) => {
    const copy = field.isForDriver ? undefined : pins.get(pinKey(field))
    return copy === undefined ? [] : [{ op: 'replace', path: `/spec/${field.at.join('/')}`, value: copy } as const]
  })
}
