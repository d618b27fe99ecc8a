import type { ResourceId } from '../model/client.ts'
import { resourceKey } from '../store/store.ts'
import { noSuchResource } from '../model/errors.ts'
import { idOf, type ObjectSchema, type ResourceDefinition } from '../model/resource-definition.ts'

/** Currently served resource. */
export interface Served {
  readonly id: ResourceId
  readonly definition: ResourceDefinition
  /** Schema by version; a version without one is not validated. */
  readonly schemas: ReadonlyMap<string, ObjectSchema>
}

/** Currently served resources; custom resources are added and removed dynamically. */
export class Registry {
  readonly #served = new Map<string, Served>()

  /** Adds a resource, in place of one with the same group and plural. */
  add(definition: ResourceDefinition, schemaOf: (version: string) => ObjectSchema | undefined): void {
    const schemas = new Map<string, ObjectSchema>()
    for (const version of definition.versions) {
      const schema = schemaOf(version)
      if (schema !== undefined) schemas.set(version, schema)
    }
    const id = idOf(definition)
    this.#served.set(resourceKey(id), { id, definition, schemas })
  }

  /** Removes the resource. */
  remove(id: ResourceId): void {
    this.#served.delete(resourceKey(id))
  }

  /** @returns resource; undefined when it is not served */
  find(id: ResourceId): Served | undefined {
    return this.#served.get(resourceKey(id))
  }

  /** @throws {ApiStatusError} 404 when the resource, or this version of it, is not served */
  get(id: ResourceId, version?: string): Served {
    const served = this.find(id)
    if (served === undefined || (version !== undefined && !served.definition.versions.includes(version))) throw noSuchResource()
    return served
  }

  /** @returns resource of a kind, and whether it is namespaced; undefined when it is not served */
  findKind(apiVersion: string, kind: string): { readonly id: ResourceId; readonly namespaced: boolean } | undefined {
    const [version = '', group = ''] = apiVersion.split('/').reverse()
    const served = [...this.#served.values()].find(
      ({ definition }) => definition.group === group && definition.kind === kind && definition.versions.includes(version),
    )
    return served && { id: served.id, namespaced: served.definition.namespaced }
  }

  /** @returns all definitions, in order of addition */
  definitions(): readonly ResourceDefinition[] {
    return [...this.#served.values()].map((served) => served.definition)
  }
}
