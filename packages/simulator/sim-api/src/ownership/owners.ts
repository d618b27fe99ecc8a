import type { ApiObject } from '../client.ts'
import { type Managers, managersText } from './managers.ts'
import { type OwnedWrite, updateManagers } from './update-managers.ts'

/** A write whose managers nobody has asked for yet. */
interface Pending {
  readonly owners: Owners
  readonly write: OwnedWrite
  readonly before: object | undefined
  readonly after: object
}

/** How many writes may wait to be looked at: each holds on to the object as it was. */
const MOST_PENDING = 8

/** Who owns which fields of one version of an object. It is worked out when somebody asks: most versions of most objects are read by nobody. */
export class Owners {
  #managers: Managers = []
  #pending: Pending | undefined
  /** How many writes before this one wait, too. */
  readonly #depth: number

  private constructor(managers: Managers, pending: Pending | undefined) {
    this.#managers = managers
    this.#pending = pending
    this.#depth = pending === undefined ? 0 : pending.owners.#waiting + 1
    if (this.#depth > MOST_PENDING) this.managers()
  }

  /** The owners of an object of which nobody is told. */
  static readonly none = new Owners([], undefined)

  /** @returns owners that are known */
  static of(managers: Managers): Owners {
    return managers.length === 0 ? Owners.none : new Owners(managers, undefined)
  }

  /** @returns the owners after a create, an update or a patch; `before` is undefined for a new object */
  after(write: OwnedWrite, before: object | undefined, after: object): Owners {
    if (this === Owners.none && before !== undefined) return this
    return new Owners([], { owners: this, write, before, after })
  }

  /** @returns the managers, in the order in which objects list them */
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

/** Notes on an object that is not yet frozen who owns its fields. Copies of the object do not carry it. */
export function setOwners<T extends object>(object: T, owners: Owners): T {
  return owners === Owners.none ? object : Object.defineProperty(object, OWNERS, { value: owners })
}

/** @returns who owns the fields of an object that the server handed out */
export function ownersOf(object: ApiObject): Owners {
  return (object as { readonly [OWNERS]?: Owners })[OWNERS] ?? Owners.none
}

/** @returns the object as it is served, with `metadata.managedFields` */
export function withManagedFields(object: ApiObject): ApiObject {
  const text = managedFieldsText(object)
  if (text === undefined) return object
  return { ...object, metadata: { ...object.metadata, managedFields: JSON.parse(text) as unknown } } as ApiObject
}

/** @returns what stands in `metadata.managedFields`, as JSON; undefined where nobody owns anything */
export function managedFieldsText(object: ApiObject): string | undefined {
  const managers = ownersOf(object).managers()
  return managers.length === 0 ? undefined : managersText(managers)
}
