import type { KubeObject, ObjectKey, OwnerReference } from './objects.ts'

/** @returns `namespace/name`, the text form of a key in logs, queues and maps */
export function keyText(key: ObjectKey): string {
  return `${key.namespace}/${key.name}`
}

/** @returns the key written by {@link keyText} */
export function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/')
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}

/** @returns the key of an object; the namespace of a cluster-scoped object is empty */
export function keyOf(object: KubeObject): ObjectKey {
  return { namespace: object.metadata.namespace ?? '', name: object.metadata.name }
}

/** @returns the owner reference with `controller: true`; undefined if there is none */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true)
}
