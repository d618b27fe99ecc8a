/** @returns at most `most` characters of a text, with an ellipsis if more follow: paper does not scroll */
export function cutText(text: string, most: number): string {
  const characters = Array.from(text)
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}
