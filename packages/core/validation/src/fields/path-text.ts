/** @returns a path in the notation of the API server, such as `spec.steps[1].replicas` */
export function pathText(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((whole, part) => (typeof part === 'number' ? `${whole}[${part}]` : `${whole}.${String(part)}`), '')
  return text === '' ? 'the document' : text.slice(1)
}
