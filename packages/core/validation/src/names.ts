/** Whether a text can be the name of an object such as a DaemonSet. @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */
export function isObjectName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
}

/** Whether a text can be the value of a label, and is not empty. */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text)
}

/** Whether a text can be the name of a label: a name of up to 63 characters, after a domain and a slash or without. */
export function isLabelKey(text: string): boolean {
  const [prefix, name] = text.includes('/') ? [text.slice(0, text.lastIndexOf('/')), text.slice(text.lastIndexOf('/') + 1)] : [null, text]
  return (prefix === null || isObjectName(prefix)) && isLabelValue(name)
}

/** Whether a text can be the name of an entry that other fields and messages name. */
export function isEntryName(text: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
}

/** Whether a text can be a key in a Secret. */
export function isSecretKey(text: string): boolean {
  return text.length <= 253 && /^[-._A-Za-z0-9]+$/.test(text) && text !== '.' && text !== '..'
}
