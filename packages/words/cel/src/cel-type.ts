/**
 * The type of a value, as expressions are checked against it. `maxSize` bounds what a loop over it costs: characters, items or
 * entries; absent: as many as a request can carry.
 */
export type CelType =
  | { readonly kind: 'int' | 'uint' | 'double' | 'bool' | 'bytes' | 'timestamp' | 'duration' | 'dyn' }
  | { readonly kind: 'string'; readonly maxSize?: number }
  | { readonly kind: 'list'; readonly of: CelType; readonly maxSize?: number }
  /** Keys are text. */
  | { readonly kind: 'map'; readonly of: CelType; readonly maxSize?: number }
  /** Fields by their name in JSON. Expressions name each as `celFieldName` says. */
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, CelType>> }
  | { readonly kind: 'optional'; readonly of: CelType }
