const MOST = 512; // pixels a side of a logo, as the API keeps it

/**
 * A logo as the API takes it: a PNG as it is, anything else that the browser can draw, SVG among it, drawn. An image
 * element runs no scripts of an SVG and fetches nothing that it names. It throws for what cannot be drawn.
 */
export async function pngOf(file: Blob): Promise<Blob> {
  if (file.type === 'image/png') return file;
  const address = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const [width, height] = fit(image.naturalWidth || MOST, image.naturalHeight || MOST, file.type === 'image/svg+xml');
    const canvas = document.createElement('canvas');
    canvas.width = width;
    canvas.height = height;
    canvas.getContext('2d')?.drawImage(image, 0, 0, width, height);
    return await new Promise<Blob>((resolve, reject) => {
      canvas.toBlob((png) => { if (png) resolve(png); else reject(new Error('no PNG')); }, 'image/png');
    });
  } finally { URL.revokeObjectURL(address); }
}

/** The size within the bound; what is drawn by lines is enlarged to it. */
export function fit(width: number, height: number, enlarge: boolean): [number, number] {
  const scale = MOST / Math.max(width, height);
  const by = enlarge ? scale : Math.min(1, scale);
  return [Math.max(1, Math.round(width * by)), Math.max(1, Math.round(height * by))];
}

/** The bytes in base64. */
export async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
