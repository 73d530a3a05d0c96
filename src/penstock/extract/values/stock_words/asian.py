"""The words for stock and buying in languages of Asia."""

from penstock.extract.values.stock_words.words import StockWords

LANGUAGES = {
    "ja": StockWords(
        in_stock=(
            "在庫あり | 在庫有り | 在庫有 | 残り# | 残#点 | 在庫わずか | 残りわずか | 在庫僅少 | "
            "即納 | 即日出荷 | 即日発送 | 在庫:○ | 在庫○ | 在庫◎"
        ),
        out_of_stock=(
            "在庫なし | 在庫無し | 在庫切れ | 売り切れ | 売切れ | 売切 | 完売 | 品切れ | 欠品 | "
            "販売終了 | 在庫がありません | 在庫はありません | 取扱終了 | 取り扱いできません | 在庫×"
        ),
        backorder=(
            "取り寄せ | お取り寄せ | 取寄せ | 取寄 | 予約受付中 | 予約商品 | 予約注文 | 予約販売 | "
            "受注生産 | 受注製作 | 予約する"
        ),
        available="販売中 | 購入可能 | 注文可能",
        unavailable="購入できません | 現在お取り扱いできません",
        negations="なし | 無し | ません | ない | 不可",
        pending="入荷 | お知らせ | 通知 | 確認 | 近日 | 予定",
        idle="まもなく | 間もなく | 表示",
        asides="画像 | 写真 | レビュー | サイズ",
        units="個 | 点 | 台 | 枚",
        counted="在庫 | 在庫数",
        buy=(
            "カートに入れる | カートに追加 | カートへ入れる | 今すぐ買う | 今すぐ購入 | 購入する | "
            "かごに追加 | 買い物かごに入れる | かごに入れる | カゴに入れる | 購入手続きへ | "
            "バッグに入れる | バッグに追加 | 買い物カゴに入れる | 注文する"
        ),
        buy_alone="購入 | 買う | 注文",
        not_buying="見る | 表示 | お気に入り | 再度 | 方法 | 追加済",
        buy_fillers="する",
    ),
    "zh": StockWords(
        in_stock=(
            "有货 | 现货 | 有库存 | 库存充足 | 仅剩# | 仅剩 # | 库存紧张 | 有貨 | 現貨 | 有庫存 | "
            "庫存充足 | 僅剩# | 僅剩 # | 庫存緊張 | 尚有庫存 | 剩餘# | 剩余# | 有現貨 | 有现货 | "
            "只剩#"
        ),
        out_of_stock=(
            "缺货 | 无货 | 售罄 | 已售罄 | 售完 | 已售完 | 无库存 | 没有库存 | 暂时缺货 | 断货 | "
            "下架 | 卖完 | 缺貨 | 無貨 | 無庫存 | 沒有庫存 | 暫時缺貨 | 補貨中 | 斷貨 | 賣完 | "
            "完售 | 已售出 | 停售 | 沒貨 | 没货 | 无现货 | 無現貨"
        ),
        backorder=(
            "预订 | 预购 | 预售 | 订制 | 接受预订 | 預購 | 預訂 | 預售 | 訂製 | 接單生產 | 客订 | "
            "客訂"
        ),
        available="可购买 | 有售 | 可購買 | 可订购 | 可訂購",
        unavailable="不可购买 | 不可購買 | 暂无 | 暫無",
        negations="无 | 無 | 没 | 沒 | 未 | 非 | 不 | 缺",
        pending="通知 | 即将 | 即將 | 补货 | 補貨 | 查询 | 查詢",
        idle="即将 | 即將 | 显示 | 顯示",
        asides="图片 | 圖片 | 评论 | 評論 | 尺码 | 尺碼",
        units="件",
        counted="库存 | 庫存 | 剩余 | 剩餘",
        buy=(
            "加入购物车 | 添加到购物车 | 放入购物车 | 加入購物車 | 放入購物車 | 添加到購物車 | "
            "立即购买 | 立即購買 | 加入購物籃 | 加入购物袋 | 加入購物袋 | 直接購買 | 马上购买 | "
            "馬上購買 | 立刻购买 | 立即结帐 | 立即下单 | 加到購物車 | 我要購買"
        ),
        buy_alone="购买 | 購買",
        not_buying="查看 | 前往 | 收藏 | 再次 | 如何 | 已加入",
        contact="联系卖家 | 聯絡賣家",
    ),
    "ko": StockWords(
        in_stock="재고 있음 | 재고있음 | 재고 보유 | 즉시 발송 | 당일 발송 | 남은 수량 #",
        out_of_stock=(
            "품절 | 재고 없음 | 재고없음 | 매진 | 판매 종료 | 판매종료 | 일시품절 | 판매중지 | "
            "단종 | 재고가 없습니다"
        ),
        backorder="예약 판매 | 예약판매 | 예약 구매 | 예약구매 | 주문 제작 | 주문제작 | 선주문",
        available="구매가능 | 구매 가능 | 판매중 | 판매 중",
        unavailable="구매불가 | 구매 불가",
        negations="없음 | 없습니다 | 않 | 불가 | 아닙니다",
        pending="입고 | 알림 | 예정 | 확인",
        idle="임박 | 보기",
        asides="이미지 | 리뷰 | 사이즈",
        units="개",
        counted="재고 | 재고수량",
        buy=(
            "장바구니 담기 | 장바구니에 담기 | 장바구니에 추가 | 구매하기 | 바로구매 | 바로 구매 | "
            "장바구니담기 | 지금 구매"
        ),
        buy_alone="구매",
        not_buying="보기 | 가기 | 다시 | 방법",
        buy_fillers="하기",
    ),
    "ar": StockWords(
        in_stock=(
            "متوفر في المخزون | في المخزون | متوفر حاليا | متوفر الآن | متاح الآن | متوفر بالمخزون"
        ),
        out_of_stock=(
            "نفدت الكمية | نفذت الكمية | نفد من المخزون | نفذ من المخزون | نفد المخزون | نفذ | "
            "نفد | غير متوفر | غير متوفرة | غير متاح | إنتهت الكمية | انتهت الكمية"
        ),
        backorder="طلب مسبق | الطلب المسبق | حسب الطلب | اطلب مسبقا",
        available="متوفر | متوفرة | متاح | متوافر",
        negations="غير | لا | ليس | ليست | لم",
        pending="قريبا | عند | عندما | أعلمني | أبلغني | تحقق",
        fillers="المنتج | حاليا | هذا | الآن",
        buy=(
            "أضف إلى السلة | أضف إلى عربة التسوق | أضف الى السلة | إضافة إلى السلة | أضف للسلة | "
            "اشتر الآن | شراء الآن | اشتري الآن | إضافة إلى عربة التسوق | أضف إلى العربة | "
            "إضافة للسلة"
        ),
        buy_alone="شراء | اشتر",
        not_buying="عرض | اذهب | المفضلة | كيف",
    ),
    "he": StockWords(
        in_stock="במלאי | קיים במלאי | יש במלאי | נותרו # | זמין במלאי | זמין מיידית",
        out_of_stock="אזל מהמלאי | אזל | לא במלאי | אזל המלאי | חסר במלאי | לא זמין | אין במלאי",
        backorder="הזמנה מראש | בהזמנה מראש | בהזמנה מיוחדת | הזמנה מוקדמת",
        available="זמין | קיים",
        negations="לא | אין | אינו",
        pending="בקרוב | כאשר | עדכנו אותי | הודיעו לי | כשיחזור",
        fillers="המוצר | כרגע | עכשיו",
        buy=(
            "הוסף לסל | הוספה לסל | הוסיפו לסל | הוסף לעגלה | הוספה לעגלה | קנה עכשיו | "
            "קנו עכשיו | הוסף לסל הקניות | הוספה לסל הקניות | הוסף לעגלת הקניות"
        ),
        buy_alone="קנה | קניה | לרכישה",
        not_buying="מעבר | צפה | מועדפים | איך",
    ),
    "hi": StockWords(
        in_stock="स्टॉक में | स्टॉक में है | स्टॉक में उपलब्ध",
        out_of_stock=(
            "स्टॉक में नहीं | स्टॉक खत्म | बिक गया | स्टॉक समाप्त | अनुपलब्ध | उपलब्ध नहीं | आउट ऑफ स्टॉक"
        ),
        backorder="प्री ऑर्डर | अग्रिम ऑर्डर | ऑर्डर पर",
        available="उपलब्ध | उपलब्ध है",
        negations="नहीं",
        pending="जल्द | सूचित | जब",
        buy="कार्ट में जोड़ें | कार्ट में डालें | अभी खरीदें | कार्ट में ऐड करें",
        buy_alone="खरीदें",
    ),
    "th": StockWords(
        in_stock=("มีสินค้า | มีในสต็อก | สินค้าพร้อมส่ง | พร้อมส่ง | มีสต็อก | เหลือ # ชิ้น | เหลือเพียง #"),
        out_of_stock="สินค้าหมด | หมดสต็อก | หมดแล้ว | ขายหมด | ไม่มีสินค้า | ของหมด | หมดชั่วคราว",
        backorder="พรีออเดอร์ | สั่งจองล่วงหน้า | สั่งผลิต | สินค้าสั่งจอง",
        available="มีจำหน่าย | พร้อมจำหน่าย",
        negations="ไม่",
        pending="เร็วๆ นี้ | แจ้งเตือน | เมื่อ | ตรวจสอบ",
        buy=(
            "เพิ่มลงตะกร้า | หยิบใส่ตะกร้า | ใส่ตะกร้า | เพิ่มลงในรถเข็น | ซื้อเลย | ซื้อทันที | "
            "หยิบใส่รถเข็น | เพิ่มไปยังรถเข็น | เพิ่มในตะกร้า | ซื้อตอนนี้ | เพิ่มลงในตะกร้า"
        ),
        buy_alone="ซื้อ | สั่งซื้อ",
        not_buying="ดู | รายการโปรด | วิธี",
        buy_fillers="เลย",
    ),
    "vi": StockWords(
        in_stock="còn hàng | sẵn hàng | có hàng | hàng có sẵn | chỉ còn # | còn # sản phẩm",
        out_of_stock="hết hàng | tạm hết hàng | đã bán hết | ngừng kinh doanh | cháy hàng",
        backorder="đặt trước | đặt hàng trước | hàng đặt trước",
        available="có sẵn | sẵn sàng",
        gone="đã bán",
        negations="không | chưa",
        pending="sắp | khi | thông báo",
        fillers="sản phẩm | hiện",
        counted="tồn kho | kho",
        buy="thêm vào giỏ hàng | thêm vào giỏ | mua ngay | cho vào giỏ hàng | đặt mua",
        buy_alone="mua | mua hàng",
        not_buying="xem | yêu thích | cách",
    ),
    "id": StockWords(
        in_stock="stok tersedia | ready stock | stok ada | sisa # | tinggal # | tersisa #",
        out_of_stock="stok habis | habis terjual | stok kosong | barang habis | tidak tersedia",
        backorder="pesan dulu | pra pesan | inden | pre order",
        available="tersedia",
        gone="habis | terjual",
        negations="tidak | belum | bukan",
        pending="segera | beri tahu | ketika | saat tersedia",
        fillers="produk | saat ini | stok",
        counted="stok",
        buy=(
            "tambah ke keranjang | tambahkan ke keranjang | beli sekarang | masukkan keranjang | "
            "masukkan ke keranjang | beli langsung | tambah ke troli"
        ),
        buy_alone="beli | keranjang",
        not_buying="lihat | wishlist | cara",
        buy_fillers="sekarang",
    ),
}
