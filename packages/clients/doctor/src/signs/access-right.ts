/** One permission on a resource. */
export interface NeededRight {
  readonly verb: string
  readonly group: string
  /** `pods`, `rollouts/status`. */
  readonly resource: string
  /** Name of the only object; absent: any object. */
  readonly name?: string
  /** Empty: all namespaces. Absent: the same, or a cluster-scoped resource. */
  readonly namespace?: string
}

/** Permission on a path of the API server that is no resource. */
export interface PathRight {
  readonly verb: 'get'
  /** `/version` */
  readonly path: string
}

/** Permission that a request needs. */
export type AccessRight = NeededRight | PathRight

/** @returns `patch rollouts/status.rollouts.kruise.io in agents`, `list pods in all namespaces`, `get /version` */
export function rightText(right: AccessRight): string {
  if ('path' in right) return `${right.verb} ${right.path}`
  const { verb, group, resource, name, namespace } = right
  const what = `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` ${name}`}`
  if (namespace === '') return `${what} in all namespaces`
  return namespace === undefined ? what : `${what} in ${namespace}`
}
