import { isForbidden, type ResourcePath } from '@tranche/kube-client'

/** A read that the host refuses to the user. */
export interface Lack {
  readonly verb: 'get' | 'list'
  /** Plural with its group, as kubectl writes it: `daemonsets.apps`. */
  readonly resource: string
  /** Absent for a resource without namespaces, and for all namespaces. */
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** @returns the missing right in words: `list pods in namespace "demo"` */
export function lackText({ verb, resource, namespace, name }: Lack): string {
  const named = name === undefined ? '' : ` ${JSON.stringify(name)}`
  return `${verb} ${resource}${named}${namespace === undefined ? '' : ` in namespace ${JSON.stringify(namespace)}`}`
}

/** @returns the resource as kubectl writes it */
export function resourceText({ plural, group }: ResourcePath): string {
  return group === '' ? plural : `${plural}.${group}`
}

/** Collects what could not be read. */
export interface LackList {
  /** @returns what was read; `otherwise` if the host refused it, which the list then contains */
  tolerate<T>(lack: Lack, read: Promise<T>, otherwise: T): Promise<T>
  /** Everything that was refused, without repetitions. */
  all(): readonly Lack[]
}

/** Creates an empty list. Errors other than a refusal pass through. */
export function createLackList(): LackList {
  const found = new Map<string, Lack>()
  return {
    async tolerate(lack, read, otherwise) {
      try {
        return await read
      } catch (error) {
        if (!isForbidden(error)) throw error
        found.set(lackText(lack), lack)
        return otherwise
      }
    },
    all: () => [...found.values()],
  }
}
