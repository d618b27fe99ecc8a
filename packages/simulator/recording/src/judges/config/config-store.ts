import type { RecordedWrite } from '../../record/recorded-write.ts'

/** A version of a ConfigMap or Secret; its content is null once it is deleted. */
interface Version {
  readonly fromMs: number
  readonly content: string | null
}

interface Stored {
  readonly versions: Version[]
  isImmutable: boolean
}

/** Every ConfigMap and Secret of a recording, by `ConfigMap/name` or `Secret/name`, with its earlier contents. */
export class ConfigStore {
  readonly #objects = new Map<string, Stored>()

  apply({ namespace, kind, type, o, t }: RecordedWrite): void {
    const {
      metadata,
      immutable,
      type: typeOfSecret,
      data,
      binaryData,
    } = o as {
      readonly metadata: { readonly name: string }
      readonly type?: string
      readonly immutable?: boolean
      readonly data?: object
      readonly binaryData?: object
    }
    const key = `${namespace}/${kind}/${metadata.name}`
    const known = this.#objects.get(key) ?? { versions: [], isImmutable: false }
    this.#objects.set(key, known)
    known.isImmutable = immutable === true
    const content = type === 'DELETED' ? null : JSON.stringify([sorted(data), sorted(binaryData), typeOfSecret ?? null])
    if (known.versions.at(-1)?.content !== content) known.versions.push({ fromMs: t, content })
  }

  /** @returns the present content; null without the object */
  content(namespace: string | undefined, object: string): string | null {
    return this.#objects.get(`${namespace}/${object}`)?.versions.at(-1)?.content ?? null
  }

  isImmutable(namespace: string | undefined, object: string): boolean {
    return this.#objects.get(`${namespace}/${object}`)?.isImmutable === true
  }

  /** Every content that the object has had since this time, also the one that it had then. */
  contentsSince(namespace: string | undefined, object: string, sinceMs: number): ReadonlySet<string | null> {
    const { versions } = this.#objects.get(`${namespace}/${object}`) ?? { versions: [] }
    const first = versions.findLastIndex(({ fromMs }) => fromMs <= sinceMs)
    return new Set(versions.slice(Math.max(0, first)).map(({ content }) => content))
  }
}

function sorted(members: object | undefined): unknown {
  return Object.entries(members ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
