import type { ApiObject } from '../model/client.ts'
import { type Managers, managersText } from './managers.ts'
import { type OwnedWrite, updateManagers } from './update-managers.ts'

/** Write whose managers have not been computed yet. */
interface Pending {
  readonly owners: Owners
  readonly write: OwnedWrite
  readonly before: object | undefined
  readonly after: object
}

/** Maximum number of pending writes; each keeps the previous object in memory. */
const MOST_PENDING = 8

/** Field owners of one version of an object. Computed on demand, because most versions are never read with their managers. */
export class Owners {
  #managers: Managers = []
  #pending: Pending | undefined
  /** Number of earlier writes that are pending too. */
  readonly #depth: number

  private constructor(managers: Managers, pending: Pending | undefined) {
    this.#managers = managers
    this.#pending = pending
    this.#depth = pending === undefined ? 0 : pending.owners.#waiting + 1
    if (this.#depth > MOST_PENDING) this.managers()
  }

  /** Owners of an object without managed fields. */
  static readonly none = new Owners([], undefined)

  /** @returns owners that are already known */
  static of(managers: Managers): Owners {
    return managers.length === 0 ? Owners.none : new Owners(managers, undefined)
  }

  /** @returns owners after a create, an update or a patch; `before` is undefined for a new object */
  after(write: OwnedWrite, before: object | undefined, after: object): Owners {
    if (this === Owners.none && before !== undefined) return this
    return new Owners([], { owners: this, write, before, after })
  }

  /** @returns managers in the order of `managedFields` */
  managers(): Managers {
    if (this.#pending === undefined) return this.#managers
    const { owners, write, before, after } = this.#pending
    const known = owners.managers()
    this.#managers = known.length === 0 && before !== undefined ? known : updateManagers(write, known, before, after)
    this.#pending = undefined
    return this.#managers
  }

  get #waiting(): number {
    return this.#pending === undefined ? 0 : this.#depth
  }
}

const OWNERS = Symbol('owners')

/** Attaches field owners to an object that is not frozen yet. Copies of the object do not carry them. */
export function setOwners<T extends object>(object: T, owners: Owners): T {
  return owners === Owners.none ? object : Object.defineProperty(object, OWNERS, { value: owners })
}

/** @returns field owners of an object from the server */
export function ownersOf(object: ApiObject): Owners {
  return (object as { readonly [OWNERS]?: Owners })[OWNERS] ?? Owners.none
}

/** @returns object as served, with `metadata.managedFields` */
export function withManagedFields(object: ApiObject): ApiObject {
  const text = managedFieldsText(object)
  if (text === undefined) return object
  return { ...object, metadata: { ...object.metadata, managedFields: JSON.parse(text) as unknown } } as ApiObject
}

/** @returns value of `metadata.managedFields`, as JSON; undefined without owners */
export function managedFieldsText(object: ApiObject): string | undefined {
  const managers = ownersOf(object).managers()
  return managers.length === 0 ? undefined : managersText(managers)
}
