/**
 * Type of a value, for the type check of expressions. `maxSize` bounds the cost of a loop over it, in characters, items or entries. If
 * absent, the bound is the request size.
 */
export type CelType =
  | { readonly kind: 'int' | 'uint' | 'double' | 'bool' | 'bytes' | 'timestamp' | 'duration' | 'dyn' }
  | { readonly kind: 'string'; readonly maxSize?: number }
  | { readonly kind: 'list'; readonly of: CelType; readonly maxSize?: number }
  /** Keys are strings. */
  | { readonly kind: 'map'; readonly of: CelType; readonly maxSize?: number }
  /** Fields by JSON name. In expressions, `celFieldName` gives their names. */
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, CelType>> }
  | { readonly kind: 'optional'; readonly of: CelType }
