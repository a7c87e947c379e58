/**
 * Returns whether a text was copied. Browsers permit it on HTTPS and on the local host.
 * @param {string} text
 */
export async function copied(text) {
  if (!isSecureContext) return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}
