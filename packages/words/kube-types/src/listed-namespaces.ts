/** Whether a list of namespaces contains this one, or `*`, which stands for all. */
export function isListedNamespace(namespaces: readonly string[], namespace: string): boolean {
  return namespaces.includes('*') || namespaces.includes(namespace)
}
