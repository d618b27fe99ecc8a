/** Whether a text can be the name of an object such as a DaemonSet. @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */
export function isObjectName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
}

/** Whether a text can be the value of a label, and is not empty. */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text)
}
