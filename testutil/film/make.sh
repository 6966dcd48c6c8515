#!/usr/bin/env bash
# make.sh [DIR [SECONDS]]: the sample film anew, into files/ or DIR, or a longer one. Needs ffmpeg with libx264 and a font: on Debian
# apt-get install ffmpeg fonts-liberation.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
out="${1:-$here/files}"
font="${FONT:-/usr/share/fonts/truetype/liberation/LiberationMono-Bold.ttf}"
seconds="${2:-20}"
rate=25
segment=4
mkdir -p "$out" && cd "$out"
rm -rf 360p 720p audio-pt audio-en captions-pt captions-en film.mp4 index.m3u8
mkdir 360p 720p audio-pt audio-en captions-pt captions-en

# The same bytes on every machine that has the same ffmpeg: one thread, nothing of the machine in the files.
exact=(-threads 1 -map_metadata -1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact)
run() { ffmpeg -hide_banner -loglevel error -nostdin -y "$@"; }
hls=(-f hls -hls_time "$segment" -hls_playlist_type vod -hls_segment_type fmp4 -hls_flags independent_segments
  -hls_fmp4_init_filename init.mp4 -hls_segment_filename)

# picture NAME WIDTH HEIGHT CRF MAXRATE: ffmpeg's own moving test picture with the time code burnt in; a key frame
# begins each segment, and no frame waits for a later one, so that picture and sound begin at zero.
picture() {
  run -f lavfi -i "testsrc2=size=$2x$3:rate=$rate:duration=$seconds" "${exact[@]}" \
    -vf "drawtext=fontfile=$font:timecode='00\:00\:00\:00':rate=$rate:fontsize=h/6:fontcolor=white:box=1:boxcolor=black@0.8:boxborderw=$(($3 / 60)):x=(w-tw)/2:y=(h-th)/2" \
    -c:v libx264 -preset veryslow -profile:v high -pix_fmt yuv420p -crf "$4" -maxrate "$5" -bufsize "$5" \
    -g $((rate * segment)) -keyint_min $((rate * segment)) -sc_threshold 0 -bf 0 "${hls[@]}" "$1/%d.m4s" "$1/index.m3u8"
}

# sound NAME HERTZ: a tone of each language's own pitch, with a beep each second; it ends a frame before the picture, so
# that no segment begins after it.
sound() {
  run -f lavfi -i "sine=frequency=$2:beep_factor=4:sample_rate=48000:duration=$seconds" -t "$((seconds - 1)).95" "${exact[@]}" \
    -ac 1 -c:a aac -b:a 32k "${hls[@]}" "$1/%d.m4s" "$1/index.m3u8"
}

# captions LANGUAGE WORD: a line of every two seconds, which says the second that it begins at.
captions() {
  {
    printf 'WEBVTT\n'
    for ((at = 0; at < seconds; at += 2)); do
      printf '\n00:%02d:%02d.000 --> 00:%02d:%02d.000\n%s %d\n' $((at / 60)) $((at % 60)) $(((at + 2) / 60)) $(((at + 2) % 60)) \
        "$2" "$at"
    done
  } >"captions-$1/captions.vtt"
  printf '%s\n' '#EXTM3U' '#EXT-X-VERSION:7' "#EXT-X-TARGETDURATION:$seconds" '#EXT-X-MEDIA-SEQUENCE:0' \
    '#EXT-X-PLAYLIST-TYPE:VOD' "#EXTINF:$seconds.000000," captions.vtt '#EXT-X-ENDLIST' >"captions-$1/index.m3u8"
}

picture 360p 640 360 33 140k
picture 720p 1280 720 33 520k
sound audio-pt 440
sound audio-en 660
captions pt Segundo
captions en Second

# The direct file: the larger picture with the first sound, not encoded again, its index in front.
run -i 720p/index.m3u8 -i audio-pt/index.m3u8 "${exact[@]}" -map 0:v -map 1:a -c copy -movflags +faststart film.mp4

# peak and average NAME: bits a second of its largest segment, and of all.
peak() { stat -c %s "$1"/*.m4s | sort -n | tail -1 | awk -v s="$segment" '{print int($1 * 8 / s) + 1}'; }
average() { stat -c %s "$1"/*.m4s | awk -v s="$seconds" '{n += $1} END {print int(n * 8 / s) + 1}'; }
variant() {
  printf '#EXT-X-STREAM-INF:BANDWIDTH=%d,AVERAGE-BANDWIDTH=%d,RESOLUTION=%s,FRAME-RATE=%d.000,CODECS="%s,mp4a.40.2",AUDIO="audio",SUBTITLES="captions"\n%s/index.m3u8\n' \
    $(($(peak "$1") + $(peak audio-pt))) $(($(average "$1") + $(average audio-pt))) "$2" "$rate" "$3" "$1"
}
{
  printf '%s\n' '#EXTM3U' '#EXT-X-VERSION:7' '#EXT-X-INDEPENDENT-SEGMENTS' \
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Português",LANGUAGE="pt",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="1",URI="audio-pt/index.m3u8"' \
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="English",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,CHANNELS="1",URI="audio-en/index.m3u8"' \
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="Português",LANGUAGE="pt",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,URI="captions-pt/index.m3u8"' \
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="English",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,URI="captions-en/index.m3u8"'
  variant 360p 640x360 avc1.64001E
  variant 720p 1280x720 avc1.64001F
} >index.m3u8
