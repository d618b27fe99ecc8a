/** Whether a text is a valid object name, such as that of a DaemonSet. @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */
export function isObjectName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
}

/** Whether a text is a valid label value and not empty. */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text)
}

/** Whether a text is a valid label key: a name of up to 63 characters, with or without a domain and a slash before it. */
export function isLabelKey(text: string): boolean {
  const [prefix, name] = text.includes('/') ? [text.slice(0, text.lastIndexOf('/')), text.slice(text.lastIndexOf('/') + 1)] : [null, text]
  return (prefix === null || isObjectName(prefix)) && isLabelValue(name)
}

/** Whether a text is a valid name of a list entry: up to 63 lowercase letters, digits and hyphens. */
export function isEntryName(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
}

/** Whether a text is a valid key of a Secret: up to 253 letters, digits, dots, hyphens and underscores. */
export function isSecretKey(text: string): boolean {
  return text.length <= 253 && /^[-._A-Za-z0-9]+$/.test(text) && text !== '.' && text !== '..'
}
