/** @returns `text` with control characters replaced by spaces: names and messages come from the cluster */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}
