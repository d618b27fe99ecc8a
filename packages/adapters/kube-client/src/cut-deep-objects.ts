import { cutDeepJson, type KubeObject } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import { mayNestDeep, type ResourcePath } from './resource-path.ts'

/** Cuts a freshly parsed object in place and returns it. */
export type CutDeepObject = <T>(resource: ResourcePath, object: T) => T

/** Maximum number of objects that are remembered as logged. */
const LOGGED_MAX = 1_000

/**
 * Creates the boundary behind which no code meets values that are nested more than 100 deep. A user who may write one
 * such value would otherwise end every walk over it, and with it a pass or the process. Each object is logged once.
 */
export function createDeepCutter(log: Logger): CutDeepObject {
  const logged = new Set<string>()
  return (resource, object) => {
    if (!mayNestDeep(resource) || !cutDeepJson(object)) return object
    const { namespace = '', name, uid = '' } = (object as Partial<KubeObject>).metadata ?? {}
    if (logged.has(uid)) return object
    if (logged.size >= LOGGED_MAX) logged.clear()
    logged.add(uid)
    log.warn({ resource: resource.plural, namespace, name }, 'ignored values of an object that are nested too deeply')
    return object
  }
}
