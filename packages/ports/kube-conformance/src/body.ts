/** A JSON document from the wire, with the fields that most Kubernetes objects have. Any of them may be missing in an answer. */
export interface Body {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: Metadata
  readonly items: readonly Body[]
  readonly [field: string]: unknown
}

/** Metadata of an object or of a list. */
export interface Metadata {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  readonly creationTimestamp: string
  readonly generation: number
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly finalizers?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly { readonly name: string; readonly uid: string }[]
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** One answer of the API server, as it came. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** `text` as JSON; an empty object where it is none. */
  readonly body: Body
}

/** @returns what an answer of 4xx complains of: `FieldValueInvalid spec.selector`, sorted, each once */
export function causesOf({ body }: Answer): readonly string[] {
  const { causes = [] } = (body['details'] ?? {}) as { readonly causes?: readonly { readonly reason?: string; readonly field?: string }[] }
  return [...new Set(causes.map(({ reason = '', field = '' }) => `${reason} ${field}`.trim()))].toSorted()
}

/** @returns the value at a path of field names and indices, `spec.template.spec.containers.0.image`; undefined where the path ends early */
export function valueAt(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, word) => (value as Readonly<Record<string, unknown>> | undefined | null)?.[word], body)
}

/** @returns the names of the items of a list, in their order */
export function namesOf({ body }: { readonly body: Body }): readonly string[] {
  return body.items.map(({ metadata }) => metadata.name)
}
